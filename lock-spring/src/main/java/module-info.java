// SPDX-License-Identifier: Apache-2.0
/** Locks in Spring Framework: the annotation {@link io.mortise.lock.spring.Locked}, and its programmatic twin. */
module io.mortise.lock.spring {
    requires transitive io.mortise.lock;
    requires transitive spring.context;
    requires org.slf4j;
    requires spring.aop;
    requires spring.beans;
    requires spring.core;
    requires spring.expression;
    requires static spring.tx;
    requires static transitive reactor.core;
    requires static org.reactivestreams;
    requires static transitive org.jspecify;

    exports io.mortise.lock.spring;

    opens io.mortise.lock.spring to
            spring.beans,
            spring.context,
            spring.core,
            spring.expression;
}
