# cuda.mk
#		libgs_cuda.a: the CUDA device, for a C program to link.
#
# Included by makefiles, or read on its own by cuda/Makefile.  Before it is
# included:
#
#	GS_CUDA_DIR		the directory of this file
#	GS_SRC_DIR		src
#	GS_CUDA_BUILD	where objects and the library go (default build)
#	NVCC			default nvcc from the path, or /usr/local/cuda/bin/nvcc
#	GS_CUDA_ARCH	default: machine code for Hopper, and PTX from Turing on
#
# It sets GS_CUDA_LIB, the library, and GS_CUDA_LDLIBS, what a program links
# behind it.  The engine's gs_arena.c belongs to the program.

GS_CUDA_BUILD ?= build
NVCC ?= $(firstword $(shell command -v nvcc) /usr/local/cuda/bin/nvcc)
GS_CUDA_ARCH ?= -gencode=arch=compute_90,code=sm_90 -gencode=arch=compute_75,code=compute_75
GS_CUDA_NVCCFLAGS = -std=c++17 -O3 $(GS_CUDA_ARCH) -cudart static -lineinfo \
	-Xcompiler -Wall,-Wextra,-Wno-unused-parameter,-fvisibility=hidden,-fPIC \
	-I$(GS_SRC_DIR) -I$(GS_CUDA_DIR) $(GS_CUDA_DEFINES)

GS_CUDA_SOURCES := $(notdir $(wildcard $(GS_CUDA_DIR)/cuda_*.cu))
GS_CUDA_OBJECTS := $(GS_CUDA_SOURCES:%.cu=$(GS_CUDA_BUILD)/%.o)
GS_CUDA_HEADERS := $(wildcard $(GS_CUDA_DIR)/*.h $(GS_CUDA_DIR)/*.cuh) \
	$(wildcard $(addprefix $(GS_SRC_DIR)/,engine/*.h engine/device/*.h parse/*.h))

GS_CUDA_LIB := $(GS_CUDA_BUILD)/libgs_cuda.a
cuda_home = $(abspath $(dir $(realpath $(NVCC)))/..)
GS_CUDA_LDLIBS = -L$(cuda_home)/lib64 -lcudart_static -lstdc++ -lpthread -ldl -lrt -lm

$(GS_CUDA_OBJECTS): $(GS_CUDA_BUILD)/%.o: $(GS_CUDA_DIR)/%.cu $(GS_CUDA_HEADERS)
	@mkdir -p $(GS_CUDA_BUILD)
	$(NVCC) $(GS_CUDA_NVCCFLAGS) -c -o $@ $<

$(GS_CUDA_LIB): $(GS_CUDA_OBJECTS)
	@rm -f $@
	$(AR) crs $@ $(GS_CUDA_OBJECTS)
