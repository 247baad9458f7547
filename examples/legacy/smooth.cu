/*
 * smooth.cu -- three-point smoothing of the rows of an image, as a shared library with a C interface.
 *
 *   nvcc -shared -Xcompiler -fPIC smooth.cu -o libsmooth.so            (GPU)
 *   g++ -x c++ -shared -fPIC smooth.cu -o libsmooth.so                 (reference, on the host)
 *
 * Returns 0, or the CUDA error code. smooth_rows_default() is for old callers that know no streams.
 */
#ifdef __CUDACC__

__global__ static void smooth_kernel(const float *in, float *out, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    int left = x > 0 ? x - 1 : x, right = x < width - 1 ? x + 1 : x;
    const float *row = in + (size_t)y * width;
    out[(size_t)y * width + x] = (row[left] + row[x] + row[right]) / 3.0f;
}

extern "C" int smooth_rows(const float *in, float *out, int width, int height, cudaStream_t stream)
{
    if (width <= 0 || height <= 0)
        return (int)cudaErrorInvalidValue;
    dim3 block(32, 8), grid((width + 31) / 32, (height + 7) / 8);
    smooth_kernel<<<grid, block, 0, stream>>>(in, out, width, height);
    return (int)cudaGetLastError();
}

extern "C" int smooth_rows_default(const float *in, float *out, int width, int height)
{
    return smooth_rows(in, out, width, height, 0);
}

#else

typedef void *cudaStream_t;

extern "C" int smooth_rows(const float *in, float *out, int width, int height, cudaStream_t)
{
    if (width <= 0 || height <= 0)
        return 1;
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
            int left = x > 0 ? x - 1 : x, right = x < width - 1 ? x + 1 : x;
            const float *row = in + (long)y * width;
            out[(long)y * width + x] = (row[left] + row[x] + row[right]) / 3.0f;
        }
    return 0;
}

extern "C" int smooth_rows_default(const float *in, float *out, int width, int height)
{
    return smooth_rows(in, out, width, height, 0);
}

#endif
