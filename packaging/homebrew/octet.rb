# Not run by Homebrew so far: there is no release to download, hence the digest of zeros.
class Octet < Formula
  desc "INT8 GEMM and convolution with the same bytes on every CPU"
  homepage "https://octet.example.org"
  url "https://octet.example.org/releases/octet-0.2.0.tar.gz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license "Apache-2.0"

  depends_on "cmake" => :build
  depends_on "cli11" => :build
  depends_on "nlohmann-json" => :build
  depends_on "xsimd" => :build
  depends_on "fmt"

  def install
    system "cmake", "-S", ".", "-B", "build", "-DBUILD_SHARED_LIBS=ON", "-DOCTET_BUILD_TESTS=OFF",
           "-DOCTET_BUILD_BENCHMARKS=OFF", *std_cmake_args
    system "cmake", "--build", "build"
    system "cmake", "--install", "build"
  end

  test do
    (testpath/"test.c").write <<~EOS
      #include <octet/octet.h>
      #include <stdio.h>
      int main(void) { return puts(octet_version()) < 0; }
    EOS
    system ENV.cc, "test.c", "-I#{include}", "-L#{lib}", "-loctet", "-o", "test"
    assert_match version.to_s, shell_output("./test")
    system bin/"octet", "bench", "8x8x8"
  end
end
