#pragma once
/* Graphs: captured, made of nodes, changed, launched. Included by cuda_runtime_api.h, whose words it
 * uses. */

/* Graphs, made by stream capture. */
RUNG_EMU_API cudaError_t cudaStreamBeginCapture(cudaStream_t stream,
                                                enum cudaStreamCaptureMode mode);
RUNG_EMU_API cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph);
RUNG_EMU_API cudaError_t cudaStreamIsCapturing(cudaStream_t stream,
                                               enum cudaStreamCaptureStatus* status);
RUNG_EMU_API cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode* mode);
RUNG_EMU_API cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* executable,
                                                       cudaGraph_t graph, unsigned long long flags);
RUNG_EMU_API cudaError_t cudaGraphUpload(cudaGraphExec_t executable, cudaStream_t stream);
RUNG_EMU_API cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph,
                                             cudaGraphExecUpdateResultInfo* result);

/* Graphs, made of nodes. */
RUNG_EMU_API cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned int flags);
RUNG_EMU_API cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t graph);
RUNG_EMU_API cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                                const cudaGraphNode_t* dependencies, size_t count,
                                                const struct cudaKernelNodeParams* parameters);
RUNG_EMU_API cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                                const cudaGraphNode_t* dependencies, size_t count,
                                                const struct cudaMemcpy3DParms* copy);
RUNG_EMU_API cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph,
                                                  const cudaGraphNode_t* dependencies, size_t count,
                                                  void* to, const void* from, size_t bytes,
                                                  enum cudaMemcpyKind kind);
RUNG_EMU_API cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                                const cudaGraphNode_t* dependencies, size_t count,
                                                const struct cudaMemsetParams* parameters);
RUNG_EMU_API cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                              const cudaGraphNode_t* dependencies, size_t count,
                                              const struct cudaHostNodeParams* parameters);
RUNG_EMU_API cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                               const cudaGraphNode_t* dependencies, size_t count);
RUNG_EMU_API cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                                  const cudaGraphNode_t* dependencies, size_t count,
                                                  struct cudaMemAllocNodeParams* parameters);
RUNG_EMU_API cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                                 const cudaGraphNode_t* dependencies, size_t count,
                                                 void* pointer);
RUNG_EMU_API cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node,
                                                        struct cudaMemAllocNodeParams* parameters);
RUNG_EMU_API cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* pointer);
RUNG_EMU_API cudaError_t cudaDeviceGetGraphMemAttribute(int device,
                                                        enum cudaGraphMemAttributeType attribute,
                                                        void* value);
RUNG_EMU_API cudaError_t cudaDeviceSetGraphMemAttribute(int device,
                                                        enum cudaGraphMemAttributeType attribute,
                                                        void* value);
RUNG_EMU_API cudaError_t cudaDeviceGraphMemTrim(int device);
RUNG_EMU_API cudaError_t
cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long flags,
                        enum cudaDriverEntryPointQueryResult* result RUNG_EMU_DEFAULT(NULL));
RUNG_EMU_API cudaError_t cudaGetDriverEntryPointByVersion(
    const char* name, void** function, unsigned int version, unsigned long long flags,
    enum cudaDriverEntryPointQueryResult* result RUNG_EMU_DEFAULT(NULL));
RUNG_EMU_API cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                                    const cudaGraphNode_t* dependencies,
                                                    size_t count, cudaGraph_t child);
RUNG_EMU_API cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                          const cudaGraphNode_t* dependencies, size_t count,
                                          struct cudaGraphNodeParams* parameters);
RUNG_EMU_API cudaError_t cudaGraphAddNode_v2(cudaGraphNode_t* node, cudaGraph_t graph,
                                             const cudaGraphNode_t* dependencies,
                                             const cudaGraphEdgeData* edges, size_t count,
                                             struct cudaGraphNodeParams* parameters);
RUNG_EMU_API cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* handle,
                                                          cudaGraph_t graph,
                                                          unsigned int value RUNG_EMU_DEFAULT(0),
                                                          unsigned int flags RUNG_EMU_DEFAULT(0));
RUNG_EMU_API cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                                       const cudaGraphNode_t* dependencies,
                                                       const cudaGraphEdgeData* edges, size_t count,
                                                       enum cudaStreamCaptureMode mode);
RUNG_EMU_API cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                                  const cudaGraphNode_t* to, size_t count);
RUNG_EMU_API cudaError_t cudaGraphAddDependencies_v2(cudaGraph_t graph, const cudaGraphNode_t* from,
                                                     const cudaGraphNode_t* to,
                                                     const cudaGraphEdgeData* edges, size_t count);
RUNG_EMU_API cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes,
                                           size_t* count);
RUNG_EMU_API cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes,
                                               size_t* count);
RUNG_EMU_API cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType* type);
RUNG_EMU_API cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node,
                                                      struct cudaKernelNodeParams* parameters);
RUNG_EMU_API cudaError_t
cudaGraphExecKernelNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                 const struct cudaKernelNodeParams* parameters);
RUNG_EMU_API cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                                        const cudaGraphNode_t* dependencies,
                                                        size_t count, const void* symbol,
                                                        const void* from, size_t bytes,
                                                        size_t offset, enum cudaMemcpyKind kind);
RUNG_EMU_API cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                                          const cudaGraphNode_t* dependencies,
                                                          size_t count, void* to,
                                                          const void* symbol, size_t bytes,
                                                          size_t offset, enum cudaMemcpyKind kind);
RUNG_EMU_API cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node,
                                                      struct cudaMemcpy3DParms* copy);
RUNG_EMU_API cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node,
                                                      const struct cudaMemcpy3DParms* copy);
RUNG_EMU_API cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* to,
                                                        const void* from, size_t bytes,
                                                        enum cudaMemcpyKind kind);
RUNG_EMU_API cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t executable,
                                                          cudaGraphNode_t node,
                                                          const struct cudaMemcpy3DParms* copy);
RUNG_EMU_API cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t executable,
                                                            cudaGraphNode_t node, void* to,
                                                            const void* from, size_t bytes,
                                                            enum cudaMemcpyKind kind);
RUNG_EMU_API cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node,
                                                      struct cudaMemsetParams* fill);
RUNG_EMU_API cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node,
                                                      const struct cudaMemsetParams* fill);
RUNG_EMU_API cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t executable,
                                                          cudaGraphNode_t node,
                                                          const struct cudaMemsetParams* fill);
RUNG_EMU_API cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node,
                                                    struct cudaHostNodeParams* host);
RUNG_EMU_API cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node,
                                                    const struct cudaHostNodeParams* host);
RUNG_EMU_API cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t executable,
                                                        cudaGraphNode_t node,
                                                        const struct cudaHostNodeParams* host);
RUNG_EMU_API cudaError_t
cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const struct cudaKernelNodeParams* parameters);
RUNG_EMU_API cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                                     const cudaGraphNode_t* dependencies,
                                                     size_t count, cudaEvent_t event);
RUNG_EMU_API cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                                   const cudaGraphNode_t* dependencies,
                                                   size_t count, cudaEvent_t event);
RUNG_EMU_API cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event);
RUNG_EMU_API cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event);
RUNG_EMU_API cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* graph);
RUNG_EMU_API cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* found, cudaGraphNode_t original,
                                                  cudaGraph_t clone);
RUNG_EMU_API cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node,
                                                      cudaGraphNode_t* dependencies, size_t* count);
RUNG_EMU_API cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node,
                                                        cudaGraphNode_t* dependents, size_t* count);
RUNG_EMU_API cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node);
RUNG_EMU_API cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from,
                                           cudaGraphNode_t* to, size_t* count);
RUNG_EMU_API cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                                     const cudaGraphNode_t* to, size_t count);
RUNG_EMU_API cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path,
                                                unsigned int flags);
RUNG_EMU_API cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph,
                                              unsigned long long flags RUNG_EMU_DEFAULT(0));
RUNG_EMU_API cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream);
RUNG_EMU_API cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable);
RUNG_EMU_API cudaError_t cudaGraphDestroy(cudaGraph_t graph);
