// SPDX-License-Identifier: Apache-2.0
/** The code of {@code docs/spring-boot.md}. */
@NullMarked
package io.mortise.lock.spring.boot.page;

import org.jspecify.annotations.NullMarked;
