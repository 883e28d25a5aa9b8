// Creates max pools.
#include "operators/functions/image_function.h"

using namespace octet;

octet_status octet_max_pool_create(const octet_max_pool_desc* given, octet_function** function,
                                   octet_error* error) {
  CallerStruct<octet_max_pool_desc> desc;
  OCTET_TRY(begin(given, function, &desc, error));
  const octet_image_input& in = desc->input;
  int32_t range[2];
  octet_image_size out;
  const ImageFunctions* functions;
  OCTET_TRY(check_input(in, false, &functions, error));
  OCTET_TRY(check_window(in.size, desc->window, &out, error));
  OCTET_TRY(check_bounds(in.values, desc->least, desc->most, range, error));
  const MaxPool numbers = {in.values.type == OCTET_S8, range[0], range[1], window_of(desc->window)};
  return create_function<MaxPool>({{in.size, out},
                                   in.values.type,
                                   in.values.type,
                                   lines_of(desc->window),
                                   numbers,
                                   functions->max_pool},
                                  in.allocator, function, error);
}
