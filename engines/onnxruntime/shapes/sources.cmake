# What is known of sizes before a run.
octet_sources(TARGET octet_onnxruntime known.cc)
