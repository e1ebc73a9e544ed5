# The report in a browser: node drives the distribution's Chromium, through
# puppeteer-core.  That is fetched once, as package-lock.json pins it, into
# the build tree; afterwards no network is needed.
EXTRA_DIST += test/report/report.js test/report/agree.js test/report/numbers.js \
	test/report/change.js test/report/looks.js test/report/browser.js test/report/snapshot.js \
	test/report/package.json test/report/package-lock.json \
	test/metrics/dashboard.js

REPORT_DRIVER = report-driver
$(REPORT_DRIVER)/.installed: test/report/package-lock.json
	rm -rf $(REPORT_DRIVER)
	mkdir $(REPORT_DRIVER)
	cp $(srcdir)/test/report/package.json \
		$(srcdir)/test/report/package-lock.json $(REPORT_DRIVER)
	cd $(REPORT_DRIVER) && npm ci --ignore-scripts --no-audit --no-fund
	touch $@

.PHONY: check-report
check-report: all $(REPORT_DRIVER)/.installed
	NODE_PATH="$(abs_builddir)/$(REPORT_DRIVER)/node_modules" \
	DATELINE="$${DATELINE:-$(abs_builddir)/dateline}" \
	DATELINE_TOP="$(abs_top_srcdir)" \
	node $(srcdir)/test/report/report.js

# The pictures of README.md: made anew when what they show has changed.
EXTRA_DIST += doc/pictures/make.js doc/pictures/deadlock.png doc/pictures/report.png
.PHONY: pictures
pictures: all $(REPORT_DRIVER)/.installed
	NODE_PATH="$(abs_builddir)/$(REPORT_DRIVER)/node_modules" \
	DATELINE="$${DATELINE:-$(abs_builddir)/dateline}" \
	DATELINE_TOP="$(abs_top_srcdir)" \
	node $(srcdir)/doc/pictures/make.js $(srcdir)/doc/pictures

distclean-local: distclean-report
.PHONY: distclean-report
distclean-report:
	rm -rf $(REPORT_DRIVER)
