// SPDX-License-Identifier: Apache-2.0
/**
 * The conformance kit, whose {@link io.mortise.lock.testkit.LockConformance} tests a backend against the rules S1 to S19.
 *
 * <p>A backend's tests subclass it and connect to a store in one {@link io.mortise.lock.testkit.BackendUnderTest}.
 */
@NullMarked
package io.mortise.lock.testkit;

import org.jspecify.annotations.NullMarked;
