// SPDX-License-Identifier: Apache-2.0
/** The snippets of {@code docs/spring.md}, as an application has them. */
@NullMarked
package io.mortise.lock.spring.page;

import org.jspecify.annotations.NullMarked;
