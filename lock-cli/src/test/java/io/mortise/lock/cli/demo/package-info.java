// SPDX-License-Identifier: Apache-2.0
@NullMarked
package io.mortise.lock.cli.demo;

import org.jspecify.annotations.NullMarked;
