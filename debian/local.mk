# Packages for Debian; the tarball is their source.
EXTRA_DIST += \
	debian/README.source \
	debian/changelog \
	debian/control \
	debian/copyright \
	debian/dateline-check.install \
	debian/dateline-check.manpages \
	debian/dateline.install \
	debian/libdateline-dev.install \
	debian/libdateline0.install \
	debian/libdateline0.symbols \
	debian/opensm-dateline.README.Debian \
	debian/opensm-dateline.install \
	debian/opensm-dateline.lintian-overrides \
	debian/opensm-dateline.postrm \
	debian/opensm-dateline.triggers \
	debian/rules \
	debian/source/format \
	debian/systemd/dateline.conf \
	debian/tests/checker \
	debian/tests/command \
	debian/tests/control \
	debian/tests/library \
	debian/tests/opensm
