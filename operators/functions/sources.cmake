octet_sources(run.cc SETUP add.cc averages.cc binary.cc concat.cc copies.cc fit.cc function.cc image_check.cc
  look_up.cc max_pool.cc multiply.cc resize.cc resize_places.cc softmax.cc unary.cc)
