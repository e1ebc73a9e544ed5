# Allocations, files and disks that fail, at every place of every command.
# Sanitizers bring their own allocator, in which nothing can be made to fail.
EXTRA_DIST += test/fault/faults.bash
if !SANITIZERS
TESTS += test/fault/faults.bash
check_PROGRAMS += test/fault/drive
check_LTLIBRARIES += test/fault/faults.la
endif
test_fault_drive_LDADD =
test_fault_faults_la_SOURCES = test/fault/faults.c
test_fault_faults_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
test_fault_faults_la_LIBADD = -ldl
