/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The parts of a page that are the same for all tapes, made of resources/page by make_page.py. The
 * colours stand between the head and the body, the data between the body and the tail. Private to
 * ui/page. */
#pragma once

extern const char td_page_template_head[], td_page_template_body[], td_page_template_tail[];
