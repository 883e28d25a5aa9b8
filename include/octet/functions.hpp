// SPDX-License-Identifier: Apache-2.0
// Ownership over functions.h and image_functions.h for C++17, as octet.hpp has it over octet.h.
#ifndef OCTET_FUNCTIONS_HPP_
#define OCTET_FUNCTIONS_HPP_

#include <octet/functions.h>
#include <octet/image_functions.h>
#include <octet/octet.hpp>

#include <memory>

namespace octet {

// Owns an octet_function, as Gemm does an octet_gemm.
class [[nodiscard]] Function {
 public:
  // By any octet_*_create of functions.h and image_functions.h:
  // create(octet_max_pool_create, desc).
  template <class Desc>
  static Result<Function> create(octet_status (*by)(const Desc*, octet_function**, octet_error*),
                                 const Desc& desc) {
    octet_error error;
    octet_function* function = nullptr;
    if (by(&desc, &function, &error)) return error;
    Function owner;
    owner.function_.reset(function);
    return owner;
  }

  [[nodiscard]] octet_status run(const octet_function_args& args,
                                 octet_error* error = nullptr) const {
    return octet_function_run(function_.get(), &args, error);
  }
  // For an op of a network, which this must outlive.
  Result<octet_network_function> for_network() const {
    octet_error error;
    octet_network_function function = {};
    if (octet_function_for_network(function_.get(), &function, &error)) return error;
    return function;
  }
  octet_function* get() const { return function_.get(); }

 private:
  struct Destroy {
    void operator()(octet_function* function) const { octet_function_destroy(function); }
  };
  std::unique_ptr<octet_function, Destroy> function_;
};

}  // namespace octet

#endif  // OCTET_FUNCTIONS_HPP_
