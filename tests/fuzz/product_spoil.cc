// SPDX-License-Identifier: Apache-2.0
// Lists the rules by which products must be refused.
#include "fuzz/product.h"
#include "fuzz/spoil.h"

namespace octet_fuzz {
namespace {

// ---- weights

struct RhsSpoiler : SpoilerBase {
  octet_rhs_desc* d;
  size_t row() const { return d->order == OCTET_KN ? d->n : d->k; }
  size_t rows() const { return d->order == OCTET_KN ? d->k : d->n; }
};
using R = RhsSpoiler;

constexpr Rule<R> kRhsRules[] = {
    {"a wrong struct_size", [](R& s) { return s.wrong_size(&s.d->struct_size); }},
    {"an unknown type", [](R& s) { return s.set_enum(&s.d->type, 3); }},
    {"sparse weights of 4 bits",
     [](R& s) { return is_4bit(s.d->type) && s.set(&s.d->sparsity, OCTET_SPARSE_2_4); }},
    {"an unknown order", [](R& s) { return s.set_enum(&s.d->order, 2); }},
    {"n = 0", [](R& s) { return s.set(&s.d->n, 0); }},
    {"k = 0", [](R& s) { return s.set(&s.d->k, 0); }},
    {"k beyond any accumulator",
     [](R& s) { return s.set(&s.d->k, INT32_MAX / 255 + 1 + s.c->below(9)); }},
    {"a stride below a row",
     [](R& s) { return s.row() > 1 && s.set(&s.d->stride, 1 + s.c->below(s.row() - 1)); }},
    {"a stride that leaves size_t",
     [](R& s) { return s.rows() > 1 && s.set(&s.d->stride, SIZE_MAX - s.c->below(9)); }},
    {"a batch stride that leaves size_t",
     [](R& s) { return s.d->batch > 1 && s.set(&s.d->batch_stride, SIZE_MAX / 2); }},
    {"a batch that leaves size_t",
     [](R& s) { return s.set(&s.d->batch, SIZE_MAX / (1 + s.c->below(4))); }},
    {"a wrong zero point",
     [](R& s) {
       int32_t* const zero_point = s.copy(&s.d->zero_points, s.d->zero_point_count);
       return zero_point && s.wrong_zero_point(zero_point, s.d->type);
     }},
    {"a wrong zero_point_count",
     [](R& s) {
       return s.set(&s.d->zero_point_count,
                    s.d->zero_point_count == 1 ? 0 : s.d->zero_point_count + 1);
     }},
};

// ---- descriptors

struct GemmSpoiler : DescSpoiler<octet_gemm_desc> {};
using D = GemmSpoiler;

constexpr Rule<D> kGemmRules[] = {
    {"run-time weights of 4 bits",
     [](D& s) {
       return !s.d->packed && s.set(&s.d->rhs_type, s.c->any({OCTET_S4, OCTET_U4}));
     }},
    {"an unknown rhs_order", [](D& s) { return s.set_enum(&s.d->rhs_order, 2); }},
    {"m_max = 0", [](D& s) { return s.set(&s.d->m_max, 0); }},
    {"n = 0", [](D& s) { return s.set(&s.d->n, 0); }},
    {"k = 0", [](D& s) { return s.set(&s.d->k, 0); }},
    {"an m_max that leaves size_t",
     [](D& s) { return s.set(&s.d->m_max, SIZE_MAX - s.c->below(9)); }},
    {"k beyond any accumulator",
     [](D& s) { return s.set(&s.d->k, INT32_MAX / 255 + 1 + s.c->below(9)); }},
    {"weights of another n", [](D& s) { return s.d->packed && s.set(&s.d->n, s.d->n + 1); }},
    {"weights of another k", [](D& s) { return s.d->packed && s.set(&s.d->k, s.d->k + 1); }},
    {"weights of another type",
     [](D& s) { return s.d->packed && s.set(&s.d->rhs_type, s.d->rhs_type ^ 3); }},
    {"s16 values by weights of the run",
     [](D& s) { return s.s16() && s.set(&s.d->packed, nullptr) && s.set(&s.d->packed_bytes, 0); }},
    {"the size of weights that are not there",
     [](D& s) { return !s.d->packed && s.set(&s.d->packed_bytes, 64); }},
    {"an f32 lhs without its quantization",
     [](D& s) { return s.d->lhs_type != OCTET_F32 && s.set(&s.d->lhs_type, OCTET_F32); }},
    {"an integer output of an f32 lhs",
     [](D& s) { return s.d->lhs_type == OCTET_F32 && s.set(&s.d->dst_type, OCTET_U8); }},
};

// ---- arguments

struct Region {
  const uint8_t* begin;
  size_t bytes;
};

// An operand of a run, by its arguments.
struct Operand {
  const Matrices* matrices;
  const void** data;
  const void* const** array;
  size_t *stride, *batch_stride;
};

struct ArgsSpoiler : SpoilerBase {
  const Product& p;
  const octet_gemm_desc& desc;
  octet_gemm_args* a;
  std::vector<Operand> inputs;

  ArgsSpoiler(Choices* choices, Scratch* keep, const Product& product,
              const octet_gemm_desc& created, octet_gemm_args* args)
      : SpoilerBase{choices, keep}, p(product), desc(created), a(args) {
    inputs.push_back({&p.lhs, &a->lhs, &a->lhs_array, &a->lhs_stride, &a->lhs_batch_stride});
    if (p.runtime_rhs)
      inputs.push_back({&p.weights, &a->rhs, &a->rhs_array, &a->rhs_stride, &a->rhs_batch_stride});
    if (!p.residual.at.empty())
      inputs.push_back({&p.residual, &a->residual, &a->residual_array, &a->residual_stride,
                        &a->residual_batch_stride});
  }

  size_t batch() const { return std::max<size_t>(a->batch, 1); }
  bool runtime_quantization() const {
    return desc.lhs_quant == OCTET_LHS_PER_TENSOR || desc.lhs_quant == OCTET_LHS_PER_ROW;
  }
  Operand input() { return inputs[c->below(inputs.size())]; }
  Operand any_operand() {
    // The casts only give all operands one type: nothing writes through them.
    return c->one_in(3)
               ? Operand{&p.dst, (const void**)(&a->dst), (const void* const**)(&a->dst_array),
                         &a->dst_stride, &a->dst_batch_stride}
               : input();
  }

  // Moves one matrix, by the operand's pointer or in its array.
  bool move(const Operand& o, const void* to) {
    if (!*o.array) return set(o.data, to);
    scratch->emplace_back(c, std::vector<const void*>(*o.array, *o.array + batch()));
    *o.array = scratch->back().data<const void*>();
    scratch->back().data<const void*>()[c->below(batch())] = to;
    return true;
  }
  Operand dst() {
    return {&p.dst, (const void**)(&a->dst), (const void* const**)(&a->dst_array), &a->dst_stride,
            &a->dst_batch_stride};
  }

  std::vector<Region> regions(bool of_dst) const {
    std::vector<Region> list = {{(const uint8_t*)desc.packed, desc.packed_bytes}};
    for (const Operand& in : inputs)
      if (*in.array) list.push_back({(const uint8_t*)(*in.array), batch() * sizeof(void*)});
    for (const Block* block : {&p.lhs_zero_points, &p.lhs_scales, &p.rhs_zero_points})
      if (block != &p.rhs_zero_points || p.runtime_rhs)
        list.push_back({block->data(), block->bytes()});
    for (const Operand& in : inputs)
      for (const uint8_t* at : in.matrices->at) list.push_back({at, in.matrices->span()});
    if (of_dst)
      for (const uint8_t* at : p.dst.at) list.push_back({at, p.dst.span()});
    else
      list.push_back({(const uint8_t*)a->workspace, a->workspace_bytes});
    return list;
  }
  // An address whose next `alignment` bytes include one byte of a region.
  const uint8_t* address_in(const std::vector<Region>& list, size_t alignment) {
    const Region& region = list[c->below(list.size())];
    if (!region.bytes) return nullptr;
    const uint8_t* const at = region.begin + c->below(region.bytes);
    return at - (uintptr_t)at % alignment;
  }
};
using A = ArgsSpoiler;

constexpr Rule<A> kArgsRules[] = {
    {"a wrong struct_size", [](A& s) { return s.wrong_size(&s.a->struct_size); }},
    {"m = 0", [](A& s) { return s.set(&s.a->m, 0); }},
    {"m above m_max", [](A& s) { return s.set(&s.a->m, s.desc.m_max + 1 + s.c->below(100)); }},
    {"a batch above batch_max",
     [](A& s) {
       return s.set(&s.a->batch, std::max<size_t>(s.desc.batch_max, 1) + 1 + s.c->below(9));
     }},
    {"n above n", [](A& s) { return s.set(&s.a->n, s.desc.n + 1 + s.c->below(9)); }},
    {"k above k", [](A& s) { return s.set(&s.a->k, s.desc.k + 1 + s.c->below(9)); }},

    {"neither pointer nor array",
     [](A& s) {
       const Operand o = s.any_operand();
       return s.set(o.data, nullptr) && s.set(o.array, nullptr);
     }},
    {"both pointer and array",
     [](A& s) {
       const Operand o = s.any_operand();
       static const void* const array[] = {array};
       return *o.data ? s.set(o.array, array) : s.set(o.data, o.matrices->at[0]);
     }},
    {"a null in an array",
     [](A& s) {
       const Operand o = s.any_operand();
       return *o.array && s.move(o, nullptr);
     }},
    {"a misaligned operand",
     [](A& s) {
       const Operand o = s.any_operand();
       return element_bytes(o.matrices->type) > 1 &&
              s.move(o, o.matrices->at[0] + 1 + s.c->below(element_bytes(o.matrices->type) - 1));
     }},
    {"a stride below a row",
     [](A& s) {
       const Operand o = s.any_operand();
       return o.matrices->cols > 1 && s.set(o.stride, 1 + s.c->below(o.matrices->cols - 1));
     }},
    {"a stride that leaves size_t",
     [](A& s) {
       const Operand o = s.any_operand();
       return o.matrices->rows > 1 && s.set(o.stride, SIZE_MAX / (1 + s.c->below(2)));
     }},
    {"a batch stride that leaves size_t",
     [](A& s) {
       const Operand o = s.any_operand();
       return *o.data && s.batch() > 1 && s.set(o.batch_stride, SIZE_MAX / (1 + s.c->below(2)));
     }},

    {"a wrong lhs zero point",
     [](A& s) {
       int32_t* const value =
           s.copy(&s.a->lhs_zero_points, s.p.lhs_zero_points.bytes() / sizeof(int32_t));
       return value && s.wrong_zero_point(value, s.desc.lhs_type);
     }},
    {"a wrong lhs scale",
     [](A& s) {
       float* const value = s.copy(&s.a->lhs_scales, s.p.lhs_scales.bytes() / sizeof(float));
       return value && s.wrong_scale(value);
     }},
    {"a wrong rhs zero point",
     [](A& s) {
       int32_t* const value = s.copy(&s.a->rhs_zero_points, s.a->rhs_zero_point_count);
       return value && s.wrong_zero_point(value, s.desc.rhs_type);
     }},
    {"a wrong rhs_zero_point_count",
     [](A& s) {
       size_t& count = s.a->rhs_zero_point_count;
       return s.p.runtime_rhs && s.set(&count, count == 1 ? 0 : count + 1);
     }},
    {"lhs_zero_points without a use",
     [](A& s) { return !s.runtime_quantization() && s.set(&s.a->lhs_zero_points, &kNothing); }},
    {"lhs_scales without a use",
     [](A& s) {
       return !(s.runtime_quantization() && s.desc.dst_type != OCTET_S32) &&
              s.set(&s.a->lhs_scales, &kOne);
     }},
    {"an rhs beside packed weights",
     [](A& s) { return !s.p.runtime_rhs && s.set(&s.a->rhs, s.p.lhs.at[0]); }},
    {"a residual without a use",
     [](A& s) {
       return !s.p.epilogue.desc().epilogue.residual.type && s.set(&s.a->residual, s.p.lhs.at[0]);
     }},

    {"a dst over an input, the weights or the workspace",
     [](A& s) {
       const uint8_t* const at = s.address_in(s.regions(false), element_bytes(s.desc.dst_type));
       for (const uint8_t* residual : s.p.residual.at)
         if (at == residual) return false;  // may be exactly it
       return at && s.move(s.dst(), at);
     }},
    {"a workspace over an operand",
     [](A& s) {
       const uint8_t* const at = s.address_in(s.regions(true), OCTET_ALIGNMENT);
       return at && s.a->workspace_bytes && s.set(&s.a->workspace, (uint8_t*)at);
     }},
    {"dst matrices that overlap",
     [](A& s) {
       const size_t step = s.p.dst.rows > 1 && s.c->one_in(2) ? s.a->dst_stride : s.p.dst.cols - 1;
       return s.a->dst && s.batch() > 1 && step && s.set(&s.a->dst_batch_stride, step);
     }},
    {"matrices of dst_array that overlap",
     [](A& s) {
       if (!s.a->dst_array || s.batch() == 1) return false;
       void** const array = (void**)s.a->dst_array;
       const size_t one = s.c->below(s.batch());
       s.scratch->emplace_back(s.c, std::vector<void*>(array, array + s.batch()));
       s.scratch->back().data<void*>()[one] =
           s.p.dst.at[(one + 1) % s.batch()] +
           s.c->below(s.p.dst.cols) * element_bytes(s.desc.dst_type);
       return s.set(&s.a->dst_array, s.scratch->back().data<void*>());
     }},
};

}  // namespace

const char* spoil(Choices* c, Scratch* scratch, octet_rhs_desc* rhs) {
  RhsSpoiler spoiler = {{c, scratch}, rhs};
  return apply_one(kRhsRules, spoiler);
}

const char* spoil(Choices* c, Scratch* scratch, octet_gemm_desc* desc) {
  GemmSpoiler own = {{{c, scratch}, desc}};
  if (c->one_in(4)) return apply_one(kGemmRules, own);
  DescSpoiler<octet_gemm_desc> shared = {{c, scratch}, desc};
  return apply_one(kDescRules<octet_gemm_desc>, shared);
}

const char* spoil(Choices* c, Scratch* scratch, const Product& p, const octet_gemm_desc& desc,
                  octet_gemm_args* args) {
  ArgsSpoiler spoiler(c, scratch, p, desc, args);
  return apply_one(kArgsRules, spoiler);
}

}  // namespace octet_fuzz
