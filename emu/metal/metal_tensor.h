#error "tensors and tensor operations (Metal 4) are not supported on the virtual GPU"
