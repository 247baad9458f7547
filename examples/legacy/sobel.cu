/*
 * sobel.cu -- edge magnitude of a grey image, inverted so that edges are dark.
 *
 * Written in the manner of 2012: raw pointers, row-major images without padding, one thread a pixel,
 * a shared tile with a halo of one pixel. Launch with blocks of TILE x TILE threads and enough blocks
 * to cover the image. Pixels beyond the border repeat the border.
 */

#define TILE 16

__device__ int clamp_index(int i, int n)
{
    return i < 0 ? 0 : (i >= n ? n - 1 : i);
}

extern "C" __global__ void sobel(const float *in, float *out, int width, int height)
{
    __shared__ float tile[TILE + 2][TILE + 2];

    const int x = blockIdx.x * TILE + threadIdx.x;
    const int y = blockIdx.y * TILE + threadIdx.y;

    /* The block's TILE * TILE threads fetch (TILE + 2) * (TILE + 2) pixels. */
    for (int i = threadIdx.y * TILE + threadIdx.x; i < (TILE + 2) * (TILE + 2); i += TILE * TILE) {
        const int row = clamp_index((int)(blockIdx.y * TILE) + i / (TILE + 2) - 1, height);
        const int column = clamp_index((int)(blockIdx.x * TILE) + i % (TILE + 2) - 1, width);
        tile[i / (TILE + 2)][i % (TILE + 2)] = in[row * width + column];
    }
    __syncthreads();

    if (x >= width || y >= height)
        return;

    const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    const float gx = tile[ty - 1][tx + 1] + 2 * tile[ty][tx + 1] + tile[ty + 1][tx + 1]
                   - tile[ty - 1][tx - 1] - 2 * tile[ty][tx - 1] - tile[ty + 1][tx - 1];
    const float gy = tile[ty + 1][tx - 1] + 2 * tile[ty + 1][tx] + tile[ty + 1][tx + 1]
                   - tile[ty - 1][tx - 1] - 2 * tile[ty - 1][tx] - tile[ty - 1][tx + 1];
    const float edge = 255.0f - sqrtf(gx * gx + gy * gy);
    out[y * width + x] = edge < 0.0f ? 0.0f : edge;
}
