#define LIST_MAX 16
struct list { int size; };
int list_size(const struct list *one);
