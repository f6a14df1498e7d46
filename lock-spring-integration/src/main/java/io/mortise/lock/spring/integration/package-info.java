// SPDX-License-Identifier: Apache-2.0
/** A lock registry for Spring Integration, so that its components use the locks of any backend. */
@NullMarked
package io.mortise.lock.spring.integration;

import org.jspecify.annotations.NullMarked;
