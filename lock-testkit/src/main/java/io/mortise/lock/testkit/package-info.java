// SPDX-License-Identifier: Apache-2.0
/**
 * The conformance kit: {@link io.mortise.lock.testkit.LockConformance} proves a backend against the numbered rules (S1 to
 * S19). A backend's tests subclass it and say, in one {@link io.mortise.lock.testkit.BackendUnderTest}, how to reach a store.
 */
@NullMarked
package io.mortise.lock.testkit;

import org.jspecify.annotations.NullMarked;
