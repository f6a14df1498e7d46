// SPDX-License-Identifier: Apache-2.0
@NullMarked
package io.mortise.lock.benchmark.scenario;

import org.jspecify.annotations.NullMarked;
