// Preloaded into a process, delays each sync of a file to the disk by SLOW_FSYNC_MICROSECONDS.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static void delay(void) {
    const char *text = getenv("SLOW_FSYNC_MICROSECONDS");
    if (text) usleep((useconds_t)atoi(text));
}

int fsync(int descriptor) {
    delay();
    return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(descriptor);
}

int fdatasync(int descriptor) {
    delay();
    return ((int (*)(int))dlsym(RTLD_NEXT, "fdatasync"))(descriptor);
}

int msync(void *address, size_t length, int flags) {
    if (flags & MS_SYNC) delay();
    return ((int (*)(void *, size_t, int))dlsym(RTLD_NEXT, "msync"))(address, length, flags);
}
