// SPDX-License-Identifier: Apache-2.0
@NullMarked
package io.mortise.lock.core.listener;

import org.jspecify.annotations.NullMarked;
