__global__ void broken(float* out) { out[0] = undeclared; }

int main() { broken<<<1, 1>>>(nullptr); }
