"""The report about a run: one page for people who were not there, and its twin in Markdown for a pull request.

Owns what stands in a report and how it looks. Computes no statistic: numbers come from `harness.ratings`,
`league_board`, `pairs`, `measures` and `audits`. `contents` gathers them, `*_part` put them into words and pictures (of
the parts that `document` defines), `html_page` and `markdown_page` write them down.
"""
