#error "ray tracing (metal_raytracing) is not supported on the virtual GPU"
