# Allocations, files and disks that fail, at every place of every command.
# Sanitizers bring their own allocator, in which nothing can be made to fail.
EXTRA_DIST += test/fault/faults.bash
if !SANITIZERS
TESTS += test/fault/faults.bash
check_PROGRAMS += test/fault/drive
check_PROGRAMS += test/fault/faults.so
endif
test_fault_drive_LDADD =
test_fault_faults_so_SOURCES = test/fault/faults.c
test_fault_faults_so_CFLAGS = $(preloaded_cflags)
test_fault_faults_so_LDFLAGS = $(preloaded_ldflags)
test_fault_faults_so_LDADD = -ldl
