#error \
    "imageblocks (metal_imageblocks) are not supported on the virtual GPU: they belong to rendering"
