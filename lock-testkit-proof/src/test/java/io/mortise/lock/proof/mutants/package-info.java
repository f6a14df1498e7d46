// SPDX-License-Identifier: Apache-2.0
/** Backends and clients with one deliberate defect each, which the conformance kit must detect. */
@org.jspecify.annotations.NullMarked
package io.mortise.lock.proof.mutants;
