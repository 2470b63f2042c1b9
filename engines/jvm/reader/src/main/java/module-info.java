/** Looks up IP addresses in images that {@code popfib compile} writes. */
module popfib {
    exports popfib;
}
