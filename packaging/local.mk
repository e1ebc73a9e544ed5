# Packages for other distributions.  The spec names the version, and rpmbuild
# looks for it in the tarball.
EXTRA_DIST += packaging/rpm/dateline.spec
