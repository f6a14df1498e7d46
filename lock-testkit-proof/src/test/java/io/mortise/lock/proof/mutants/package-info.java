// SPDX-License-Identifier: Apache-2.0
/** Wrong backends, each of which breaks one rule: the kit must fail them all, by the rule's name. */
@org.jspecify.annotations.NullMarked
package io.mortise.lock.proof.mutants;
