// Textures are not here, and the compiler says so.
int main() {
  cudaTextureObject_t texture = 0;
  return texture == 0 ? 0 : 1;
}
