// As sparse_absent.cc, of convolutions.
#include "dispatch/sparse_absent.h"
#include "octet/sparse.h"

octet_status octet_sparse_prune_filter(const octet_filter_desc*, void*, octet_sparse_loss*,
                                       octet_error* error) {
  return octet::refuse_sparse(error);
}
