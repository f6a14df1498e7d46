// SPDX-License-Identifier: Apache-2.0
@NullMarked
package io.mortise.lock.benchmark;

import org.jspecify.annotations.NullMarked;
