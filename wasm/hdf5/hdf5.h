// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The part of the interface of HDF5 that perp calls, for builds without HDF5: files are kept in memory
// (hdf5_memory.c) and end with the process. Names and meanings are those of HDF5 1.10.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef int64_t hid_t;
typedef int herr_t;
typedef int htri_t;
typedef uint64_t hsize_t;
typedef int64_t hssize_t;

#define H5I_INVALID_HID   (-1)
#define H5P_DEFAULT       0
#define H5S_ALL           0
#define H5S_UNLIMITED     UINT64_MAX
#define H5E_DEFAULT       0
#define H5F_ACC_RDONLY    0u
#define H5F_ACC_TRUNC     2u
#define H5F_ACC_SWMR_READ 64u

// Types of numbers; other numbers are those of objects.
enum {
    H5T_NATIVE_DOUBLE = 1,
    H5T_NATIVE_INT64,
    H5T_NATIVE_INT32,
    H5T_NATIVE_UINT32,
    H5T_NATIVE_UINT8,
    H5T_C_S1,
    H5T_NATIVE_INT = H5T_NATIVE_INT32,
    H5T_NATIVE_UCHAR = H5T_NATIVE_UINT8,
    H5T_NATIVE_CHAR = H5T_NATIVE_UINT8,
    H5T_IEEE_F64LE = H5T_NATIVE_DOUBLE,
    H5T_STD_I64LE = H5T_NATIVE_INT64,
    H5T_STD_I32LE = H5T_NATIVE_INT32,
    H5T_STD_U32LE = H5T_NATIVE_UINT32,
    H5T_STD_U8LE = H5T_NATIVE_UINT8,
};

typedef enum H5T_class_t { H5T_NO_CLASS = -1, H5T_INTEGER, H5T_FLOAT, H5T_STRING } H5T_class_t;
typedef enum H5D_layout_t {
    H5D_LAYOUT_ERROR = -1,
    H5D_COMPACT,
    H5D_CONTIGUOUS,
    H5D_CHUNKED
} H5D_layout_t;
typedef enum H5L_type_t { H5L_TYPE_HARD, H5L_TYPE_SOFT } H5L_type_t;
typedef struct H5L_info_t {
    H5L_type_t type;
} H5L_info_t;
typedef herr_t (*H5E_auto2_t)(hid_t stack, void *context);
enum { H5S_SCALAR, H5S_SELECT_SET, H5F_SCOPE_LOCAL, H5F_LIBVER_LATEST, H5D_ALLOC_TIME_EARLY };
enum { H5P_FILE_ACCESS, H5P_DATASET_CREATE, H5P_GROUP_CREATE };
enum { H5T_CSET_UTF8, H5T_STR_NULLPAD, H5Z_FILTER_DEFLATE };

#define H5_VERS_MAJOR 1
#define H5_VERS_MINOR 10
herr_t H5get_libversion(unsigned *major, unsigned *minor, unsigned *release);
herr_t H5dont_atexit(void);
hid_t H5Fcreate(const char *path, unsigned flags, hid_t create, hid_t access);
hid_t H5Fopen(const char *path, unsigned flags, hid_t access);
herr_t H5Fclose(hid_t file);
herr_t H5Fflush(hid_t file, int scope);
herr_t H5Fstart_swmr_write(hid_t file);
herr_t H5Fget_vfd_handle(hid_t file, hid_t access, void **handle);
hid_t H5Gcreate2(hid_t at, const char *name, hid_t link, hid_t create, hid_t access);
herr_t H5Gclose(hid_t group);
htri_t H5Lexists(hid_t at, const char *name, hid_t access);
herr_t H5Lget_info(hid_t at, const char *name, H5L_info_t *info, hid_t access);

hid_t H5Dcreate2(hid_t at, const char *name, hid_t type, hid_t space, hid_t link, hid_t create,
                 hid_t access);
hid_t H5Dopen2(hid_t at, const char *name, hid_t access);
herr_t H5Dclose(hid_t dataset);
herr_t H5Dset_extent(hid_t dataset, const hsize_t *size);
herr_t H5Dwrite(hid_t dataset, hid_t type, hid_t memory, hid_t file, hid_t list, const void *data);
herr_t H5Dread(hid_t dataset, hid_t type, hid_t memory, hid_t file, hid_t list, void *data);
herr_t H5Dflush(hid_t dataset);
hid_t H5Dget_space(hid_t dataset);
hid_t H5Dget_type(hid_t dataset);
hid_t H5Dget_create_plist(hid_t dataset);
hsize_t H5Dget_storage_size(hid_t dataset);

hid_t H5Acreate2(hid_t at, const char *name, hid_t type, hid_t space, hid_t create, hid_t access);
hid_t H5Aopen_by_name(hid_t at, const char *object, const char *name, hid_t access, hid_t link);
htri_t H5Aexists(hid_t at, const char *name);
herr_t H5Awrite(hid_t attribute, hid_t type, const void *data);
herr_t H5Aread(hid_t attribute, hid_t type, void *data);
hid_t H5Aget_type(hid_t attribute);
hid_t H5Aget_space(hid_t attribute);
herr_t H5Aclose(hid_t attribute);

hid_t H5Screate(int kind);
hid_t H5Screate_simple(int rank, const hsize_t *size, const hsize_t *most);
herr_t H5Sselect_hyperslab(hid_t space, int how, const hsize_t *start, const hsize_t *stride,
                           const hsize_t *count, const hsize_t *block);
int H5Sget_simple_extent_ndims(hid_t space);
int H5Sget_simple_extent_dims(hid_t space, hsize_t *size, hsize_t *most);
hssize_t H5Sget_simple_extent_npoints(hid_t space);
herr_t H5Sclose(hid_t space);

hid_t H5Tcopy(hid_t type);
herr_t H5Tset_size(hid_t type, size_t size);
herr_t H5Tset_cset(hid_t type, int set);
herr_t H5Tset_strpad(hid_t type, int pad);
size_t H5Tget_size(hid_t type);
H5T_class_t H5Tget_class(hid_t type);
htri_t H5Tis_variable_str(hid_t type);
herr_t H5Tclose(hid_t type);

// Property lists hold nothing here.
hid_t H5Pcreate(int kind);
herr_t H5Pclose(hid_t list);
herr_t H5Pset_libver_bounds(hid_t list, int low, int high);
herr_t H5Pset_chunk(hid_t list, int rank, const hsize_t *size);
herr_t H5Pset_shuffle(hid_t list);
herr_t H5Pset_deflate(hid_t list, unsigned level);
herr_t H5Pset_alloc_time(hid_t list, int when);
herr_t H5Pset_obj_track_times(hid_t list, bool track);
herr_t H5Pset_metadata_read_attempts(hid_t list, unsigned attempts);
int H5Pget_external_count(hid_t list);
H5D_layout_t H5Pget_layout(hid_t list);
htri_t H5Zfilter_avail(int filter);
herr_t H5Eget_auto2(hid_t stack, H5E_auto2_t *print, void **context);
herr_t H5Eset_auto2(hid_t stack, H5E_auto2_t print, void *context);
