# The packages, built from the tarball and installed in a throwaway copy of
# this machine.
PACKAGE_TESTS = test/package/completion.bats test/package/package.bats
EXTRA_DIST += $(PACKAGE_TESTS) test/package/build.bash \
	test/package/throwaway.bash

.PHONY: check-package packages
packages: all
	bash $(srcdir)/test/package/build.bash . package
check-package: packages
	DATELINE_BUILD="$(abs_builddir)" \
	DATELINE_PACKAGES="$(abs_builddir)/package" \
	bash $(srcdir)/test/package/throwaway.bash $(srcdir) . -- \
		bats $(BATS_FLAGS) $(addprefix $(abs_srcdir)/,$(PACKAGE_TESTS))

clean-local: clean-package
.PHONY: clean-package
clean-package:
	rm -rf package
