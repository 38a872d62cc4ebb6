package org.sparkflame;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;

import java.io.IOException;
import org.junit.Test;

public class NativeLibraryTest {
    @Test
    public void eachArchitectureHasItsLibrary() throws IOException {
        assertEquals("/org/sparkflame/linux-x86_64/libsparkflame.so", NativeLibrary.resourceName("Linux", "amd64", "17"));
        assertEquals("/org/sparkflame/linux-aarch64/libsparkflame.so", NativeLibrary.resourceName("Linux", "aarch64", "25"));
    }

    @Test
    public void otherSystemsAreNamed() {
        IOException system = assertThrows(IOException.class, () -> NativeLibrary.resourceName("Mac OS X", "aarch64", "17"));
        assertEquals("there is no libsparkflame.so for Mac OS X, only for Linux", system.getMessage());
        IOException java = assertThrows(IOException.class, () -> NativeLibrary.resourceName("Linux", "amd64", "1.8"));
        assertEquals("this is Java 8, and Java 11 or later is needed", java.getMessage());
    }
}
