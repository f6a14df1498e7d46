// SPDX-License-Identifier: Apache-2.0
@NullMarked
package io.mortise.lock.spring.boot;

import org.jspecify.annotations.NullMarked;
