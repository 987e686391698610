__global__ void gemm(int m, int n, int k, const float* A, const float* B, float* C) {}
