/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _EXTERR_TEST_PMU_H
#define _EXTERR_TEST_PMU_H

int exterr_test_code(void);

#endif /* _EXTERR_TEST_PMU_H */
