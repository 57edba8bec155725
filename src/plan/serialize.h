// serialize.h: the sections of a plan as bytes. The HSD section holds what runs; names and reports
// are apart, so that they can be stripped.
#pragma once

#include "plan/bytes.h"
#include "plan/plan.h"

namespace tw::plan {

void put_hsd(ByteWriter& out, const std::vector<task::Program>& programs);
Result<std::vector<task::Program>> get_hsd(ByteReader& in);

void put_procedure(ByteWriter& out, const Procedure& procedure);
Result<Procedure> get_procedure(ByteReader& in, int depth = 0);

void put_names(ByteWriter& out, const Plan& plan);
Result<void> get_names(ByteReader& in, Plan& plan);

void put_kernels(ByteWriter& out, const std::vector<Kernel>& kernels);
Result<std::vector<Kernel>> get_kernels(ByteReader& in);

void put_contract(ByteWriter& out, const Contract& contract);
Result<Contract> get_contract(ByteReader& in);

}  // namespace tw::plan
