// SPDX-License-Identifier: Apache-2.0
@NullMarked
package io.mortise.lock.testkit.report;

import org.jspecify.annotations.NullMarked;
