// Sparse matrices are not here, and the compiler says so.
int main() {
  cusparseHandle_t handle = nullptr;
  return handle == nullptr ? 0 : 1;
}
