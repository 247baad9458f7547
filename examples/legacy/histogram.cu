/*
 * histogram.cu -- counts of byte values, per block in shared memory, then added up.
 *
 * NUM_BINS counters a block; any number of threads and blocks. The host part below was part of the
 * original program.
 */
#define NUM_BINS 256

__global__ void histogram256(unsigned int *bins, const unsigned char *data, int n)
{
    __shared__ unsigned int local[NUM_BINS];

    for (int i = threadIdx.x; i < NUM_BINS; i += blockDim.x)
        local[i] = 0;
    __syncthreads();

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&local[data[i]], 1u);
    __syncthreads();

    for (int i = threadIdx.x; i < NUM_BINS; i += blockDim.x)
        if (local[i] > 0)
            atomicAdd(&bins[i], local[i]);
}

__global__ void normalize(float *out, const unsigned int *bins, float total)
{
    int i = threadIdx.x;
    if (i < NUM_BINS)
        out[i] = bins[i] / total;
}

#ifndef __CUDACC_RTC__
#include <stdio.h>

int main(void)
{
    unsigned int *d_bins;
    unsigned char *d_data;
    cudaMalloc((void **)&d_bins, NUM_BINS * sizeof(unsigned int));
    cudaMalloc((void **)&d_data, 1 << 20);
    cudaMemset(d_bins, 0, NUM_BINS * sizeof(unsigned int));
    histogram256<<<64, 256>>>(d_bins, d_data, 1 << 20);
    printf("%s\n", cudaGetErrorString(cudaGetLastError()));
    return 0;
}
#endif
