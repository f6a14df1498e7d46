// SPDX-License-Identifier: Apache-2.0
@NullMarked
package io.mortise.lock.spring.integration;

import org.jspecify.annotations.NullMarked;
