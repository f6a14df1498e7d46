// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.proxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ClusterLinksTest {
    private static final int SILENT_MILLIS = 300;

    private final List<EchoServer> nodes = new ArrayList<>();
    private final List<String> addresses = new ArrayList<>();
    private ClusterLinks link;

    @BeforeEach
    void start() throws IOException {
        for (int i = 0; i < 3; i++) {
            EchoServer node = new EchoServer();
            nodes.add(node);
            addresses.add("127.0.0.1:" + node.port());
        }
        link = new ClusterLinks(addresses);
    }

    @AfterEach
    void stop() throws IOException {
        link.close();
        for (EchoServer node : nodes) {
            node.close();
        }
    }

    private Socket connect(int node) throws IOException {
        Socket socket = new Socket(
                InetAddress.getLoopbackAddress(), link.to(addresses.get(node)).port());
        socket.setSoTimeout(10_000);
        return socket;
    }

    private static int echo(Socket socket, int sent) throws IOException {
        socket.getOutputStream().write(sent);
        return socket.getInputStream().read();
    }

    @Test
    void eachNodeHasAProxy() throws IOException {
        assertThat(link.addresses()).hasSize(3).doesNotHaveDuplicates().doesNotContainAnyElementsOf(addresses);
        for (int node = 0; node < 3; node++) {
            assertThat(link.to(addresses.get(node)).address())
                    .isEqualTo(link.addresses().get(node));
            try (Socket socket = connect(node)) {
                assertThat(echo(socket, node)).isEqualTo(node);
            }
            assertThat(nodes.get(node).received()).isEqualTo(1);
        }
        assertThatThrownBy(() -> link.to("127.0.0.1:1")).hasMessageContaining("127.0.0.1:1 is none of");
    }

    @Test
    void faultsAffectAllNodes_untilHealed() throws IOException {
        for (int node = 0; node < 3; node++) {
            try (Socket socket = connect(node)) {
                echo(socket, 1);
                link.blackHole();
                socket.setSoTimeout(SILENT_MILLIS);
                assertThatThrownBy(() -> echo(socket, 2)).isInstanceOf(IOException.class);
                link.heal();
                socket.setSoTimeout(10_000);
                assertThat(socket.getInputStream().read()).isEqualTo(2);
                link.cut();
                assertThatThrownBy(() -> connect(0).close()).isInstanceOf(IOException.class);
                assertThatThrownBy(() -> connect(2).close()).isInstanceOf(IOException.class);
                link.heal();
            }
        }
    }

    @Test
    void dropNextReply_dropsOneReplyOfAnyNode() throws IOException {
        link.dropNextReply();
        try (Socket socket = connect(1)) {
            assertThatThrownBy(() -> echo(socket, 1)).isInstanceOf(SocketException.class);
        }
        for (int node = 0; node < 3; node++) {
            try (Socket socket = connect(node)) {
                assertThat(echo(socket, 2)).isEqualTo(2);
            }
        }
    }

    @Test
    void dropNextReplyOfEach_dropsOneReplyOfEveryNode() throws IOException {
        link.dropNextReplyOfEach();
        for (int node = 0; node < 3; node++) {
            try (Socket socket = connect(node)) {
                assertThatThrownBy(() -> echo(socket, 1)).isInstanceOf(SocketException.class);
            }
        }
        assertThat(link.droppedReplies()).hasValue(3);
    }

    @Test
    void delay_appliesToEachNode() throws IOException {
        link.delay(Duration.ofMillis(50));
        try (Socket socket = connect(1)) {
            long start = System.nanoTime();
            echo(socket, 1);
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThan(Duration.ofMillis(95));
        }
    }
}
