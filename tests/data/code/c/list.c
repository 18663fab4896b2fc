#include "list.h"
#include <stdio.h>

typedef struct { int x; } point_t;
enum color { RED, GREEN };
static int counter = 0;

int list_size(const struct list *one) { counter++; return one->size < LIST_MAX ? one->size : LIST_MAX; }

char *list_name(void) { printf("%d", list_size(0)); return 0; }
