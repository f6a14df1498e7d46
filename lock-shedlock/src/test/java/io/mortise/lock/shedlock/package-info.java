// SPDX-License-Identifier: Apache-2.0
@NullMarked
package io.mortise.lock.shedlock;

import org.jspecify.annotations.NullMarked;
